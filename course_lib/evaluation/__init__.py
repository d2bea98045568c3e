"""Measuring systems side by side on one's own documents: labelled questions, scores, comparison, report."""
