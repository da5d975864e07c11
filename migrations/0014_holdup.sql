-- What holds up the merge of the task's present head (JSON): refusals of the forge with their number, and since when its
-- checks pend. In the row itself, so that a restart neither forgets a try nor starts a limit anew.
ALTER TABLE tasks ADD COLUMN holdups TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(holdups));
