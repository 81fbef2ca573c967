"""What a profile says: `stretto report` and `stretto diff`, as text, JSON, HTML and figures."""

# More bars than these nobody reads; of large jobs the ranks that caused most are shown.
MOST_RANKS = 64
