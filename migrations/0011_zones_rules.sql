CREATE TABLE `rules` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`enabled` integer NOT NULL,
	`type` text NOT NULL,
	`record` text NOT NULL,
	`creation` integer NOT NULL,
	`last_modified` integer NOT NULL,
	`version` integer NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `rules_account` ON `rules` (`account_id`,`id`);--> statement-breakpoint
CREATE INDEX `rules_contact` ON `rules` (`account_id`,`id`) WHERE enabled = 1 AND type IN ('silent', 'returns');--> statement-breakpoint
CREATE TABLE `silent_marks` (
	`rule_id` text NOT NULL,
	`device_key` integer NOT NULL,
	`account_id` text NOT NULL,
	`contact` integer NOT NULL,
	PRIMARY KEY(`rule_id`, `device_key`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `silent_marks_account` ON `silent_marks` (`account_id`);--> statement-breakpoint
CREATE INDEX `silent_marks_device` ON `silent_marks` (`device_key`);--> statement-breakpoint
CREATE TABLE `zones` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`name` text NOT NULL,
	`description` text NOT NULL,
	`color` text NOT NULL,
	`shape` text NOT NULL,
	`vertices` integer NOT NULL,
	`creation` integer NOT NULL,
	`last_modified` integer NOT NULL,
	`version` integer NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `zones_account` ON `zones` (`account_id`,`id`);--> statement-breakpoint
ALTER TABLE `accounts` ADD `rules_version` text;--> statement-breakpoint
ALTER TABLE `alerts` ADD `rule_id` text;--> statement-breakpoint
ALTER TABLE `alerts` ADD `zone_id` text;
