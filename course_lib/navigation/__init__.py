"""Move 3: let the model read the table of contents. A document as an outline, and what finds its way through it."""
