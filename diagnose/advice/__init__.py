"""What is known of the job as a whole, and what follows from it: facts, notices, and numbers for the steps of remedies."""
