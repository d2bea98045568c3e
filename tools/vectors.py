"""Remake data/vectors: one file of cached vectors per corpus (run by `python course.py vectors`)."""

from course_lib.corpora import (
    agreement,
    error_codes,
    language_reference,
    large_agreement,
    navigation_questions,
    nine_languages,
    support_kb,
    tickets,
)
from course_lib.dense import load_encoder, save_vectors


def main() -> None:
    """Encode the course's own texts with the numpy encoder and write each file."""
    encoder = load_encoder(backend="numpy")
    corpora = (agreement, error_codes, language_reference, large_agreement, navigation_questions, nine_languages)
    for corpus in (*corpora, support_kb, tickets):
        save_vectors(corpus.VECTORS, corpus.cached_texts(), encoder)
        print(f"{corpus.VECTORS.name}: {len(corpus.cached_texts())} texts")


if __name__ == "__main__":
    main()
