-- For a while the second and third schema kept the built-in model's vectors with eight bits a number, a form
-- that is not read any more. They are made again from the texts, in seconds.
DELETE FROM embeddings WHERE model IN (SELECT id FROM embedding_models WHERE form = 'int8');
UPDATE embedding_models SET form = 'int12' WHERE form = 'int8';
