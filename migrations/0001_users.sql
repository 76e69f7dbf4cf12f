CREATE TABLE `users` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`name` text NOT NULL,
	`name_key` text NOT NULL,
	`email` text NOT NULL,
	`email_key` text NOT NULL,
	`country` text NOT NULL,
	`time_zone` text NOT NULL,
	`phone` text,
	`notify_email` integer NOT NULL,
	`notify_sms` integer NOT NULL,
	`description` text NOT NULL,
	`message` text NOT NULL,
	`disabled` integer NOT NULL,
	`disabled_message` text NOT NULL,
	`tags` text NOT NULL,
	`privileges` text NOT NULL,
	`group_id` text,
	`device_id` text,
	`admin_devices` integer,
	`from_time` integer,
	`expires` integer,
	`password` text,
	`creation` integer NOT NULL,
	`modification` integer NOT NULL,
	`last_login` integer,
	`version` integer NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `users_account` ON `users` (`account_id`,`id`);--> statement-breakpoint
CREATE INDEX `users_name` ON `users` (`account_id`,`name_key`,`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `users_email` ON `users` (`account_id`,`email_key`);--> statement-breakpoint
CREATE INDEX `users_group` ON `users` (`account_id`,`group_id`) WHERE group_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX `users_device` ON `users` (`account_id`,`device_id`) WHERE device_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX `groups_account` ON `groups` (`account_id`,`id`);--> statement-breakpoint
CREATE INDEX `keys_user` ON `keys` (`account_id`,`user_id`,`id`) WHERE user_id IS NOT NULL;
