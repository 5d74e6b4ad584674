"""Fits how much each reason takes from a verdict's certainty, and says how often each word is right where it was not fitted."""
