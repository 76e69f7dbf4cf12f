CREATE TABLE `alerts` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`device_key` integer NOT NULL,
	`time` integer NOT NULL,
	`name` text NOT NULL,
	`text` text NOT NULL,
	`latitude` real,
	`longitude` real,
	`messages` integer NOT NULL,
	`acknowledged_at` integer,
	`acknowledged_by` text
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `alerts_device` ON `alerts` (`device_key`,`time`,`id`);--> statement-breakpoint
CREATE INDEX `alerts_account` ON `alerts` (`account_id`,`time`,`id`);--> statement-breakpoint
CREATE INDEX `alerts_name` ON `alerts` (`account_id`,`name`,`time`,`id`);--> statement-breakpoint
CREATE TABLE `messages` (
	`account_id` text NOT NULL,
	`id` text NOT NULL,
	`device_key` integer NOT NULL,
	`channel` text NOT NULL,
	`recipient` text NOT NULL,
	`subject` text NOT NULL,
	`text` text NOT NULL,
	`status` text NOT NULL,
	`reason` text,
	`reset_at` integer,
	`provider` text,
	`attempts` integer NOT NULL,
	`changed` integer NOT NULL,
	`seq` integer NOT NULL,
	PRIMARY KEY(`account_id`, `id`)
) STRICT, WITHOUT ROWID;
