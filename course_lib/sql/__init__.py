"""Move 2: ask the database. Fixed tools, a guard for SQL that a model wrote, and what makes such SQL right."""
