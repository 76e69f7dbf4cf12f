CREATE TABLE `sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`user_id` text NOT NULL,
	`counter` integer NOT NULL,
	`creation` integer NOT NULL,
	`last_used` integer NOT NULL,
	`expires` integer NOT NULL,
	`user_agent` text NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `sessions_user` ON `sessions` (`account_id`,`user_id`,`last_used`);--> statement-breakpoint
CREATE INDEX `sessions_expires` ON `sessions` (`expires`);
