CREATE TABLE `pending_raises` (
	`account_id` text NOT NULL,
	`id` text NOT NULL,
	`creation` integer NOT NULL,
	`raise` text NOT NULL,
	PRIMARY KEY(`account_id`, `id`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `pending_raises_creation` ON `pending_raises` (`creation`,`id`);--> statement-breakpoint
ALTER TABLE `alerts` ADD `received_at` integer;--> statement-breakpoint
ALTER TABLE `messages` ADD `user_id` text;--> statement-breakpoint
ALTER TABLE `messages` ADD `contact` text;--> statement-breakpoint
ALTER TABLE `messages` ADD `link_hash` text;--> statement-breakpoint
ALTER TABLE `messages` ADD `link_expires` integer;--> statement-breakpoint
ALTER TABLE `messages` ADD `link` text;--> statement-breakpoint
CREATE INDEX `messages_link` ON `messages` (`link_hash`) WHERE link_hash IS NOT NULL;
