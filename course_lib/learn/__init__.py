"""The teaching machinery: predictions, exercises, explorers and the learner's record. It knows no retrieval."""
