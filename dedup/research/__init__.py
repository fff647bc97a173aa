"""How good the verdicts are, measured against labelled pairs, and models learnt from decisions."""
