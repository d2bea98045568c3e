"""Remake data/vectors: one file of cached vectors per corpus (run by `python course.py vectors`)."""

from course_lib.corpora import (
    agreement,
    error_codes,
    language_reference,
    large_agreement,
    navigation_questions,
    nine_languages,
    policies,
    standard_library,
    support_kb,
    tickets,
)
from course_lib.dense import load_encoder, read_vectors, save_vectors, text_key
from course_lib.lessons import your_own_data


def main() -> None:
    """Encode the course's own texts with the numpy encoder and write each file."""
    encoder = load_encoder(backend="numpy")
    corpora = (agreement, error_codes, language_reference, large_agreement, navigation_questions, nine_languages)
    for corpus in (*corpora, standard_library, support_kb, tickets, your_own_data):
        save_vectors(corpus.VECTORS, corpus.cached_texts(), encoder)
        print(f"{corpus.VECTORS.name}: {len(corpus.cached_texts())} texts")
    texts = policies.texts_with_vectors()
    if set(read_vectors(policies.VECTORS)) != {text_key(text) for text in texts}:  # a quarter of an hour
        save_vectors(policies.VECTORS, texts, encoder)
        print(f"{policies.VECTORS.name}: {len(texts)} texts")


if __name__ == "__main__":
    main()
