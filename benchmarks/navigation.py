"""Navigation beside chunks, on the agreement of 400 sections and on the language reference of the running Python."""

import time
from collections.abc import Sequence

from benchmarks.figures import table
from course_lib.corpora import DATA, language_reference, large_agreement, navigation_questions
from course_lib.corpora.navigation_questions import Headed, NavigationQuestion
from course_lib.dense import CachedEncoder, load_encoder, read_vectors
from course_lib.navigation.bill import the_bill
from course_lib.navigation.comparison import Corpus, as_table, compare_on
from course_lib.navigation.loop import LONGEST
from course_lib.navigation.models import TITLES, Lexical
from course_lib.navigation.outline import build
from course_lib.navigation.tree import Heading
from course_lib.pricing import Price, load_prices

READ_REFERENCE = Lexical(hops=1, definitions=False, titled=True)  # it says "see section TITLE", and defines no terms
LONGEST_TOPIC = 4_000  # characters of one read


def corpora() -> dict[str, Corpus]:
    """Return both corpora by name, with the vectors of their chunks and questions read from the cache."""
    known = read_vectors(navigation_questions.VECTORS) | read_vectors(language_reference.VECTORS)
    known |= read_vectors(large_agreement.VECTORS)
    encoder = CachedEncoder(known, load_encoder)
    price = next(iter(load_prices(DATA / "prices.json").values()))

    def corpus(document: Headed, questions: Sequence[NavigationQuestion], how: Lexical, longest: int) -> Corpus:
        outline = build(document.text, [Heading(*heading) for heading in document.headings], document.title)
        return Corpus(outline, document.chunks, document.inside, questions, encoder, price, how, longest)

    agreement, reference = navigation_questions.agreement_document(), navigation_questions.reference_document()
    return {
        agreement.title: corpus(agreement, navigation_questions.agreement_questions(), TITLES, LONGEST),
        reference.title: corpus(reference, navigation_questions.reference_questions(), READ_REFERENCE, LONGEST_TOPIC),
    }


def report(full: bool = False) -> str:
    """Return the comparison on both corpora and the bill of the lesson; money and seconds are the bill's arithmetic."""
    parts = []
    price: Price | None = None
    for name, corpus in corpora().items():
        started = time.perf_counter()
        header, *rows = as_table(compare_on(corpus))
        took, price = time.perf_counter() - started, corpus.price
        parts.append(f"{name}, {len(corpus.questions)} questions, {took:.1f} s\n{table(header, rows)}")
    if price:
        parts.append("\n".join(map(str, the_bill(price))))
    return "\n\n".join(parts)
