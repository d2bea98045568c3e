"""What the course costs: seconds, megabytes and milliseconds on this machine, beside their aims.

`python -m benchmarks` lists the scripts and `python -m benchmarks NAME …` runs them. Two things are compared only
within one run, as a ratio; nothing here is a test, because the numbers belong to the machine.
"""
