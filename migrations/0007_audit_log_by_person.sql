-- The audit log is read in the console, also of one person: what they did. What was done to somebody or something is found
-- by its subject already.
CREATE INDEX audit_log_actor ON audit_log (actor, id);
