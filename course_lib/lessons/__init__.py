"""One module per notebook: its predictions, its exercises and its explorers."""
