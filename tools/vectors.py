"""Remake data/vectors: one file of cached vectors per corpus (run by `python course.py vectors`)."""

from course_lib.corpora import agreement
from course_lib.dense import load_encoder, save_vectors


def main() -> None:
    """Encode the course's own texts with the numpy encoder and write each file."""
    encoder = load_encoder(backend="numpy")
    save_vectors(agreement.VECTORS, agreement.cached_texts(), encoder)
    print(f"{agreement.VECTORS.name}: {len(agreement.cached_texts())} texts")


if __name__ == "__main__":
    main()
