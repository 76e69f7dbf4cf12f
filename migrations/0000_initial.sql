CREATE TABLE `accounts` (
	`id` text PRIMARY KEY NOT NULL,
	`number` integer NOT NULL,
	`user_name` text NOT NULL,
	`name` text NOT NULL,
	`time_zone` text NOT NULL,
	`day` text NOT NULL,
	`licenses` integer NOT NULL,
	`used` integer NOT NULL,
	`disabled` integer DEFAULT false NOT NULL,
	`retention_days` integer DEFAULT 365 NOT NULL,
	`next_expiry` integer,
	`creation` integer NOT NULL,
	`last_modified` integer NOT NULL,
	`version` integer NOT NULL,
	`seq` integer NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `accounts_number` ON `accounts` (`number`);--> statement-breakpoint
CREATE INDEX `accounts_next_expiry` ON `accounts` (`next_expiry`) WHERE next_expiry IS NOT NULL;--> statement-breakpoint
CREATE TABLE `cells` (
	`cell` integer PRIMARY KEY NOT NULL,
	`accounts` integer DEFAULT 0 NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `devices` (
	`key` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`account_id` text NOT NULL,
	`name` text NOT NULL,
	`name_key` text NOT NULL,
	`description` text NOT NULL,
	`min` text NOT NULL,
	`identifier` text,
	`identifier_key` text,
	`model` text NOT NULL,
	`tags` text NOT NULL,
	`expires` integer NOT NULL,
	`expiration_date` text,
	`ends` text,
	`daily_email_limit` integer NOT NULL,
	`daily_sms_limit` integer NOT NULL,
	`usage_date` text,
	`emails_sent` integer DEFAULT 0 NOT NULL,
	`sms_sent` integer DEFAULT 0 NOT NULL,
	`last_contact` integer,
	`creation` integer NOT NULL,
	`last_modified` integer NOT NULL,
	`version` integer NOT NULL,
	`seq` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `devices_id_unique` ON `devices` (`id`);--> statement-breakpoint
CREATE INDEX `devices_name` ON `devices` (`account_id`,`name_key`,`key`);--> statement-breakpoint
CREATE INDEX `devices_creation` ON `devices` (`account_id`,`creation`,`key`);--> statement-breakpoint
CREATE INDEX `devices_identifier` ON `devices` (`account_id`,`identifier_key`,`key`) WHERE identifier_key IS NOT NULL;--> statement-breakpoint
CREATE INDEX `devices_ends` ON `devices` (`account_id`,`ends`) WHERE ends IS NOT NULL;--> statement-breakpoint
CREATE TABLE `directory` (
	`number` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_name_key` text NOT NULL,
	`account_id` text NOT NULL,
	`cell` integer NOT NULL,
	`opening_at` integer
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `directory_user_name_key_unique` ON `directory` (`user_name_key`);--> statement-breakpoint
CREATE UNIQUE INDEX `directory_account_id_unique` ON `directory` (`account_id`);--> statement-breakpoint
CREATE INDEX `directory_opening` ON `directory` (`opening_at`) WHERE opening_at IS NOT NULL;--> statement-breakpoint
CREATE TABLE `erasures` (
	`account_id` text NOT NULL,
	`id` text NOT NULL,
	`device_key` integer,
	`creation` integer NOT NULL,
	PRIMARY KEY(`account_id`, `id`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `erasures_creation` ON `erasures` (`creation`);--> statement-breakpoint
CREATE TABLE `event_heads` (
	`account_id` text PRIMARY KEY NOT NULL,
	`sequence` integer NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `events` (
	`account_id` text NOT NULL,
	`sequence` integer NOT NULL,
	`id` text NOT NULL,
	`type` text NOT NULL,
	`time` integer NOT NULL,
	`device_id` text,
	`data` text NOT NULL,
	PRIMARY KEY(`account_id`, `sequence`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE UNIQUE INDEX `events_id` ON `events` (`account_id`,`id`);--> statement-breakpoint
CREATE INDEX `events_time` ON `events` (`time`);--> statement-breakpoint
CREATE TABLE `group_devices` (
	`group_id` text NOT NULL,
	`device_key` integer NOT NULL,
	`account_id` text NOT NULL,
	PRIMARY KEY(`group_id`, `device_key`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `group_devices_device` ON `group_devices` (`device_key`,`group_id`);--> statement-breakpoint
CREATE INDEX `group_devices_account` ON `group_devices` (`account_id`);--> statement-breakpoint
CREATE TABLE `groups` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`name` text NOT NULL,
	`name_key` text NOT NULL,
	`description` text NOT NULL,
	`creation` integer NOT NULL,
	`last_modified` integer NOT NULL,
	`version` integer NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE UNIQUE INDEX `groups_name` ON `groups` (`account_id`,`name_key`);--> statement-breakpoint
CREATE INDEX `groups_account` ON `groups` (`account_id`,`id`);--> statement-breakpoint
CREATE TABLE `idempotency` (
	`account_id` text NOT NULL,
	`principal` text NOT NULL,
	`key` text NOT NULL,
	`request` text NOT NULL,
	`claimed_at` integer NOT NULL,
	`leased_until` integer DEFAULT 0 NOT NULL,
	`status` integer,
	`headers` text,
	`body` text,
	PRIMARY KEY(`account_id`, `principal`, `key`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `idempotency_claimed` ON `idempotency` (`claimed_at`);--> statement-breakpoint
CREATE TABLE `keys` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`name` text NOT NULL,
	`scopes` text NOT NULL,
	`hash` text NOT NULL,
	`user_id` text,
	`creation` integer NOT NULL,
	`expires` integer,
	`last_used` integer
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `keys_account` ON `keys` (`account_id`,`id`);--> statement-breakpoint
CREATE INDEX `keys_user` ON `keys` (`account_id`,`user_id`,`id`) WHERE user_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX `keys_expires` ON `keys` (`expires`) WHERE expires IS NOT NULL;--> statement-breakpoint
CREATE TABLE `locations` (
	`device_key` integer NOT NULL,
	`time` integer NOT NULL,
	`latitude` integer NOT NULL,
	`longitude` integer NOT NULL,
	`altitude` integer,
	`speed` integer,
	`course` integer,
	`accuracy` integer,
	`battery` integer,
	`source` text,
	`received_at` integer NOT NULL,
	`rest` text,
	PRIMARY KEY(`device_key`, `time`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `sweep_positions` (
	`part` text PRIMARY KEY NOT NULL,
	`position` integer NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `tombstones` (
	`account_id` text NOT NULL,
	`id` text NOT NULL,
	`seq` integer NOT NULL,
	`creation` integer NOT NULL,
	PRIMARY KEY(`account_id`, `id`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `tombstones_creation` ON `tombstones` (`creation`);--> statement-breakpoint
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
CREATE INDEX `users_device` ON `users` (`account_id`,`device_id`) WHERE device_id IS NOT NULL;
