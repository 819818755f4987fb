"""Episodes of robots and hands as datasets have them: tables of poses and openings beside pictures, with the task in
words."""
