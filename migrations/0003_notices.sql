CREATE INDEX `messages_notices` ON `messages` (`changed`) WHERE device_key = 0;
