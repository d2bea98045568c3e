"""The package behind the course Vectorless RAG. Start with docs/architecture.md for the map."""
