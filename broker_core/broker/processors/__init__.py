"""What the broker answers: one file per conversation, named as in `protocol/headers`.

A processor takes by keyword what it uses and says by `handlers()` which code it answers with which of its methods. A
handler on the hot path is a plain function; what it refuses it raises, and `answers.py` translates.
"""
