"""Starting programs: MPI programs under Stretto (`stretto run`), and any within a time limit."""
