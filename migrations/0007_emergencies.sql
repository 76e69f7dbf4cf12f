ALTER TABLE `accounts` ADD `emergency` text;--> statement-breakpoint
ALTER TABLE `alerts` ADD `position_time` integer;--> statement-breakpoint
ALTER TABLE `alerts` ADD `position_source` text DEFAULT 'none' NOT NULL;--> statement-breakpoint
ALTER TABLE `alerts` ADD `emergency` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `alerts` ADD `late` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `alerts` ADD `cancelled_at` integer;--> statement-breakpoint
ALTER TABLE `alerts` ADD `cancelled_by` text;--> statement-breakpoint
ALTER TABLE `alerts` ADD `updates` text;--> statement-breakpoint
ALTER TABLE `alerts` ADD `seq` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `devices` ADD `email_reserve` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `devices` ADD `sms_reserve` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `messages` ADD `kind` text DEFAULT 'alert' NOT NULL;--> statement-breakpoint
UPDATE `alerts` SET `position_source` = 'last-known' WHERE `latitude` IS NOT NULL;--> statement-breakpoint
UPDATE `alerts` SET `emergency` = 1 WHERE `name` = 'SOSButton';--> statement-breakpoint
UPDATE `messages` SET `kind` = 'notice' WHERE `device_key` = 0;
