CREATE TABLE `commands` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`device_key` integer NOT NULL,
	`is_received` integer NOT NULL,
	`format` text NOT NULL,
	`command` text NOT NULL,
	`sms` integer NOT NULL,
	`status` text NOT NULL,
	`answer` text,
	`creation` integer NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `commands_device` ON `commands` (`device_key`,`creation`,`id`);--> statement-breakpoint
CREATE INDEX `commands_account` ON `commands` (`account_id`);--> statement-breakpoint
CREATE INDEX `commands_creation` ON `commands` (`creation`);--> statement-breakpoint
CREATE TABLE `quarantine` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`device_key` integer NOT NULL,
	`time` integer NOT NULL,
	`reason` text NOT NULL,
	`received_at` integer NOT NULL,
	`packed` text NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `quarantine_device` ON `quarantine` (`device_key`,`received_at`,`id`);--> statement-breakpoint
CREATE INDEX `quarantine_account` ON `quarantine` (`account_id`);--> statement-breakpoint
CREATE INDEX `quarantine_received` ON `quarantine` (`received_at`);--> statement-breakpoint
CREATE TABLE `source_directory` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`cell` integer NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `source_directory_account` ON `source_directory` (`account_id`);--> statement-breakpoint
CREATE TABLE `source_payloads` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`source_id` text NOT NULL,
	`received_at` integer NOT NULL,
	`reason` text,
	`size` integer NOT NULL,
	`push` text
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `source_payloads_source` ON `source_payloads` (`source_id`,`id`);--> statement-breakpoint
CREATE INDEX `source_payloads_failed` ON `source_payloads` (`source_id`,`id`) WHERE reason IS NOT NULL;--> statement-breakpoint
CREATE INDEX `source_payloads_account` ON `source_payloads` (`account_id`);--> statement-breakpoint
CREATE INDEX `source_payloads_received` ON `source_payloads` (`received_at`);--> statement-breakpoint
CREATE TABLE `sources` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`name` text NOT NULL,
	`provider` text NOT NULL,
	`enabled` integer NOT NULL,
	`settings` text NOT NULL,
	`new_devices` text NOT NULL,
	`keep_raw` integer NOT NULL,
	`hash` text NOT NULL,
	`last_received` integer,
	`dropped` integer DEFAULT 0 NOT NULL,
	`creation` integer NOT NULL,
	`last_modified` integer NOT NULL,
	`version` integer NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `sources_account` ON `sources` (`account_id`,`id`);--> statement-breakpoint
CREATE TABLE `unclaimed` (
	`source_id` text NOT NULL,
	`identifier_key` text NOT NULL,
	`account_id` text NOT NULL,
	`identifier` text NOT NULL,
	`first_received` integer NOT NULL,
	`last_received` integer NOT NULL,
	PRIMARY KEY(`source_id`, `identifier_key`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `unclaimed_account` ON `unclaimed` (`account_id`,`identifier_key`);--> statement-breakpoint
CREATE INDEX `unclaimed_received` ON `unclaimed` (`last_received`);--> statement-breakpoint
CREATE TABLE `unclaimed_reports` (
	`number` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`source_id` text NOT NULL,
	`identifier_key` text NOT NULL,
	`account_id` text NOT NULL,
	`key` text NOT NULL,
	`kind` text NOT NULL,
	`received_at` integer NOT NULL,
	`item` text NOT NULL
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `unclaimed_reports_key` ON `unclaimed_reports` (`source_id`,`identifier_key`,`key`);--> statement-breakpoint
CREATE INDEX `unclaimed_reports_account` ON `unclaimed_reports` (`account_id`);--> statement-breakpoint
CREATE INDEX `unclaimed_reports_received` ON `unclaimed_reports` (`received_at`);--> statement-breakpoint
ALTER TABLE `devices` ADD `max_speed` real DEFAULT 1200 NOT NULL;--> statement-breakpoint
ALTER TABLE `devices` ADD `source_id` text;
