"""Choosing: vectorless, vector, or both. A decision with numbers, made from what the other moves measured.

The modules in the order of the notebook: `claims` (five sentences that are false), `toolbox` (five tools behind one
loop), `router` (rules that choose a tool), `agent` (something that reads the descriptions and chooses), `selection`
(how often the choice is right), `ladder`, `quarter` and `imported` (three challenges without a label), `order`
(feedback on an order of attempts), `costs` (which design wins, and where that flips), `cheat_sheet`.
"""
