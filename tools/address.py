"""Where the course is published. Written by `python course.py publish OWNER/REPO`, and by nothing else."""

REPOSITORY = ""
