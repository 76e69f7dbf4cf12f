CREATE TABLE `sign_in_attempts` (
	`id` text PRIMARY KEY NOT NULL,
	`level` real NOT NULL,
	`at` integer NOT NULL,
	`next_at` integer NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `sign_in_attempts_at` ON `sign_in_attempts` (`at`);--> statement-breakpoint
ALTER TABLE `users` ADD `last_disabled` integer;
