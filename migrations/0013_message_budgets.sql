ALTER TABLE `accounts` ADD `messages_per_day` text;--> statement-breakpoint
ALTER TABLE `messages` ADD `text_of` text;--> statement-breakpoint
CREATE INDEX `messages_commands` ON `messages` (`changed`) WHERE kind = 'command';
