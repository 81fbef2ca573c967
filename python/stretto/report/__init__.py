"""What a profile says: `stretto report` and `stretto diff`, as text, JSON, HTML and figures."""
