ALTER TABLE `group_devices` ADD `name_key` text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE `group_devices` ADD `creation` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
UPDATE `group_devices` SET (`name_key`, `creation`) = (
	SELECT `name_key`, `creation` FROM `devices` WHERE `key` = `group_devices`.`device_key`
) WHERE EXISTS (SELECT 1 FROM `devices` WHERE `key` = `group_devices`.`device_key`);--> statement-breakpoint
CREATE INDEX `group_devices_name` ON `group_devices` (`group_id`,`name_key`,`device_key`);--> statement-breakpoint
CREATE INDEX `group_devices_creation` ON `group_devices` (`group_id`,`creation`,`device_key`);--> statement-breakpoint
CREATE INDEX `events_device` ON `events` (`account_id`,`device_id`,`sequence`) WHERE device_id IS NOT NULL;
