CREATE TABLE `account_usage` (
	`account_id` text PRIMARY KEY NOT NULL,
	`day` text NOT NULL,
	`locations` integer NOT NULL,
	`storage_bytes` integer NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
ALTER TABLE `accounts` ADD `locations_per_day` integer;--> statement-breakpoint
ALTER TABLE `accounts` ADD `storage_bytes` integer;--> statement-breakpoint
ALTER TABLE `cells` ADD `size_bytes` integer;
