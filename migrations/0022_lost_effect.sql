-- Effects whose answer was lost are asked for at each reading of the records; there are few among many.

CREATE INDEX effects_lost ON effects (kind, project, number, settled_at) WHERE state = 'unknown';
