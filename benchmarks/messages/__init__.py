"""Tables of message formats: what the rules have to recognise, written down from sources and public logs.

One line a wording, `class|cause|text`; `+` is another wording of the row above; \\n and \\t in a text are escapes.
Class RC: can be the root by itself. RC?: needs evidence of other ranks. C: always a consequence. R: names a cause.
X: no rule, and the second column says why. An empty cause: any, but not harmless; a layer stands for its causes.
They are modules, and no text files, because a text full of messages is what a failed job leaves behind.
"""
