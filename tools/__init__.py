"""What authors run: building the notebooks from their sources, and checking what was built."""
