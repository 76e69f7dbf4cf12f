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
ALTER TABLE `accounts` ADD `retention_days` integer DEFAULT 365 NOT NULL;
