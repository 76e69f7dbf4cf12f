CREATE TABLE `webhooks` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`url` text NOT NULL,
	`events` text NOT NULL,
	`devices` text NOT NULL,
	`groups` text NOT NULL,
	`description` text NOT NULL,
	`enabled` integer NOT NULL,
	`disabled_reason` text,
	`wants_locations` integer NOT NULL,
	`since` integer NOT NULL,
	`creation` integer NOT NULL,
	`last_modified` integer NOT NULL,
	`version` integer NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `webhooks_account` ON `webhooks` (`account_id`,`id`);--> statement-breakpoint
CREATE INDEX `webhooks_enabled` ON `webhooks` (`account_id`,`wants_locations`) WHERE enabled = 1;--> statement-breakpoint
ALTER TABLE `event_heads` ADD `streams_until` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `event_heads` ADD `location_streams_until` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `tombstones` ADD `groups` text DEFAULT '[]' NOT NULL;
