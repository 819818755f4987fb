"""Language models: asking them, and the words of questions that they write."""
