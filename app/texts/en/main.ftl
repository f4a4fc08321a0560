problem-missing = Please fill this in.
