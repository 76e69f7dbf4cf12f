DROP TRIGGER accounts_usage_insert;--> statement-breakpoint
DROP TRIGGER accounts_usage_update;--> statement-breakpoint
DROP TRIGGER accounts_usage_delete;--> statement-breakpoint
DROP TRIGGER keys_usage_insert;--> statement-breakpoint
DROP TRIGGER keys_usage_update;--> statement-breakpoint
DROP TRIGGER keys_usage_delete;--> statement-breakpoint
DROP TRIGGER messages_usage_insert;--> statement-breakpoint
DROP TRIGGER messages_usage_update;--> statement-breakpoint
DROP TRIGGER messages_usage_delete;--> statement-breakpoint
DROP TRIGGER tombstones_usage_insert;--> statement-breakpoint
DROP TRIGGER tombstones_usage_update;--> statement-breakpoint
DROP TRIGGER tombstones_usage_delete;--> statement-breakpoint
CREATE TABLE `archived_months` (
	`account_id` text NOT NULL,
	`month` text NOT NULL,
	`object` text NOT NULL,
	`locations` integer NOT NULL,
	`bytes` integer NOT NULL,
	`creation` integer NOT NULL,
	`next_group` integer,
	PRIMARY KEY(`account_id`, `month`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `archived_months_moving` ON `archived_months` (`creation`) WHERE next_group IS NOT NULL;--> statement-breakpoint
CREATE TABLE `audit` (
	`account_id` text NOT NULL,
	`id` text NOT NULL,
	`at` integer NOT NULL,
	`actor_type` text NOT NULL,
	`actor_id` text NOT NULL,
	`actor_name` text,
	`action` text NOT NULL,
	`resource_type` text NOT NULL,
	`resource_id` text NOT NULL,
	`changes` text NOT NULL,
	`request_id` text NOT NULL,
	`address` text,
	PRIMARY KEY(`account_id`, `id`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `audit_resource` ON `audit` (`account_id`,`resource_id`,`id`);--> statement-breakpoint
CREATE INDEX `audit_id` ON `audit` (`id`);--> statement-breakpoint
CREATE TABLE `backlogs` (
	`account_id` text NOT NULL,
	`kind` text NOT NULL,
	`id` text NOT NULL,
	`since` integer NOT NULL,
	`confirmed` integer NOT NULL,
	PRIMARY KEY(`account_id`, `kind`, `id`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `backlogs_confirmed` ON `backlogs` (`confirmed`);--> statement-breakpoint
CREATE TABLE `key_networks` (
	`key_id` text NOT NULL,
	`network` text NOT NULL,
	`account_id` text NOT NULL,
	`creation` integer NOT NULL,
	PRIMARY KEY(`key_id`, `network`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `key_networks_account` ON `key_networks` (`account_id`);--> statement-breakpoint
CREATE TABLE `moved_accounts` (
	`account_id` text PRIMARY KEY NOT NULL,
	`cell` integer NOT NULL,
	`creation` integer NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `moves` (
	`account_id` text PRIMARY KEY NOT NULL,
	`from_cell` integer NOT NULL,
	`to_cell` integer NOT NULL,
	`step` text NOT NULL,
	`position` text NOT NULL,
	`creation` integer NOT NULL,
	`changed` integer NOT NULL,
	`fault` text
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `operators` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`email` text,
	`email_key` text,
	`role` text NOT NULL,
	`key_id` text,
	`hash` text,
	`expires` integer,
	`old_hash` text,
	`old_expires` integer,
	`last_used` integer,
	`creation` integer NOT NULL,
	`last_modified` integer NOT NULL,
	`version` integer NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE UNIQUE INDEX `operators_email_key_unique` ON `operators` (`email_key`);--> statement-breakpoint
CREATE TABLE `sweep_runs` (
	`id` integer PRIMARY KEY NOT NULL,
	`at` integer NOT NULL,
	`parts` text NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `usage_days` (
	`account_id` text NOT NULL,
	`day` text NOT NULL,
	`locations` integer NOT NULL,
	`requests` integer NOT NULL,
	`storage_bytes` integer NOT NULL,
	PRIMARY KEY(`account_id`, `day`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `usage_months` (
	`account_id` text NOT NULL,
	`month` text NOT NULL,
	`record` text NOT NULL,
	`creation` integer NOT NULL,
	PRIMARY KEY(`account_id`, `month`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `usage_months_month` ON `usage_months` (`month`,`account_id`);--> statement-breakpoint
ALTER TABLE `account_usage` ADD `requests` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `accounts` ADD `status` text DEFAULT 'active' NOT NULL;--> statement-breakpoint
UPDATE `accounts` SET `status` = 'disabled' WHERE `disabled` = 1;--> statement-breakpoint
ALTER TABLE `accounts` ADD `status_message` text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE `accounts` ADD `deleted_at` integer;--> statement-breakpoint
ALTER TABLE `accounts` ADD `support_may_write` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `accounts` ADD `requests_per_minute` integer;--> statement-breakpoint
ALTER TABLE `accounts` ADD `max_retention_days` integer;--> statement-breakpoint
ALTER TABLE `accounts` ADD `max_zones` integer;--> statement-breakpoint
CREATE INDEX `accounts_deleted` ON `accounts` (`deleted_at`) WHERE deleted_at IS NOT NULL;--> statement-breakpoint
ALTER TABLE `keys` ADD `operator_id` text;--> statement-breakpoint
ALTER TABLE `keys` ADD `support_reason` text;--> statement-breakpoint
CREATE INDEX `keys_support` ON `keys` (`account_id`,`expires`) WHERE operator_id IS NOT NULL;--> statement-breakpoint
ALTER TABLE `tombstones` ADD `device` text;--> statement-breakpoint
CREATE INDEX `messages_queued` ON `messages` (`changed`) WHERE status = 'queued';--> statement-breakpoint
CREATE TRIGGER accounts_usage_insert AFTER INSERT ON accounts BEGIN
  INSERT INTO account_usage (account_id, day, locations, storage_bytes)
    VALUES (NEW.id, NEW.day, 0, 352 + octet_length(NEW.id) + octet_length(NEW.user_name) + octet_length(NEW.name) + octet_length(NEW.time_zone) + octet_length(NEW.day) + octet_length(NEW.status) + octet_length(NEW.status_message) + ifnull(octet_length(NEW.messages_per_day), 0) + ifnull(octet_length(NEW.emergency), 0) + ifnull(octet_length(NEW.rules_version), 0))
    ON CONFLICT (account_id) DO UPDATE SET storage_bytes = storage_bytes + excluded.storage_bytes;
END;--> statement-breakpoint
CREATE TRIGGER accounts_usage_update AFTER UPDATE ON accounts WHEN (352 + octet_length(NEW.id) + octet_length(NEW.user_name) + octet_length(NEW.name) + octet_length(NEW.time_zone) + octet_length(NEW.day) + octet_length(NEW.status) + octet_length(NEW.status_message) + ifnull(octet_length(NEW.messages_per_day), 0) + ifnull(octet_length(NEW.emergency), 0) + ifnull(octet_length(NEW.rules_version), 0))
    - (352 + octet_length(OLD.id) + octet_length(OLD.user_name) + octet_length(OLD.name) + octet_length(OLD.time_zone) + octet_length(OLD.day) + octet_length(OLD.status) + octet_length(OLD.status_message) + ifnull(octet_length(OLD.messages_per_day), 0) + ifnull(octet_length(OLD.emergency), 0) + ifnull(octet_length(OLD.rules_version), 0)) <> 0 BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + (352 + octet_length(NEW.id) + octet_length(NEW.user_name) + octet_length(NEW.name) + octet_length(NEW.time_zone) + octet_length(NEW.day) + octet_length(NEW.status) + octet_length(NEW.status_message) + ifnull(octet_length(NEW.messages_per_day), 0) + ifnull(octet_length(NEW.emergency), 0) + ifnull(octet_length(NEW.rules_version), 0))
    - (352 + octet_length(OLD.id) + octet_length(OLD.user_name) + octet_length(OLD.name) + octet_length(OLD.time_zone) + octet_length(OLD.day) + octet_length(OLD.status) + octet_length(OLD.status_message) + ifnull(octet_length(OLD.messages_per_day), 0) + ifnull(octet_length(OLD.emergency), 0) + ifnull(octet_length(OLD.rules_version), 0)))
    WHERE account_id = NEW.id;
END;--> statement-breakpoint
CREATE TRIGGER accounts_usage_delete AFTER DELETE ON accounts BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + -(352 + octet_length(OLD.id) + octet_length(OLD.user_name) + octet_length(OLD.name) + octet_length(OLD.time_zone) + octet_length(OLD.day) + octet_length(OLD.status) + octet_length(OLD.status_message) + ifnull(octet_length(OLD.messages_per_day), 0) + ifnull(octet_length(OLD.emergency), 0) + ifnull(octet_length(OLD.rules_version), 0)))
    WHERE account_id = OLD.id;
END;--> statement-breakpoint
CREATE TRIGGER keys_usage_insert AFTER INSERT ON keys BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + 304 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.name) + octet_length(NEW.scopes) + octet_length(NEW.hash) + ifnull(octet_length(NEW.user_id), 0) + ifnull(octet_length(NEW.operator_id), 0) + ifnull(octet_length(NEW.support_reason), 0))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER keys_usage_update AFTER UPDATE ON keys WHEN (304 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.name) + octet_length(NEW.scopes) + octet_length(NEW.hash) + ifnull(octet_length(NEW.user_id), 0) + ifnull(octet_length(NEW.operator_id), 0) + ifnull(octet_length(NEW.support_reason), 0))
    - (304 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.name) + octet_length(OLD.scopes) + octet_length(OLD.hash) + ifnull(octet_length(OLD.user_id), 0) + ifnull(octet_length(OLD.operator_id), 0) + ifnull(octet_length(OLD.support_reason), 0)) <> 0 BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + (304 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.name) + octet_length(NEW.scopes) + octet_length(NEW.hash) + ifnull(octet_length(NEW.user_id), 0) + ifnull(octet_length(NEW.operator_id), 0) + ifnull(octet_length(NEW.support_reason), 0))
    - (304 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.name) + octet_length(OLD.scopes) + octet_length(OLD.hash) + ifnull(octet_length(OLD.user_id), 0) + ifnull(octet_length(OLD.operator_id), 0) + ifnull(octet_length(OLD.support_reason), 0)))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER keys_usage_delete AFTER DELETE ON keys BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + -(304 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.name) + octet_length(OLD.scopes) + octet_length(OLD.hash) + ifnull(octet_length(OLD.user_id), 0) + ifnull(octet_length(OLD.operator_id), 0) + ifnull(octet_length(OLD.support_reason), 0)))
    WHERE account_id = OLD.account_id;
END;--> statement-breakpoint
CREATE TRIGGER messages_usage_insert AFTER INSERT ON messages BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + 384 + octet_length(NEW.account_id) + octet_length(NEW.id) + octet_length(NEW.kind) + octet_length(NEW.channel) + octet_length(NEW.recipient) + ifnull(octet_length(NEW.user_id), 0) + ifnull(octet_length(NEW.contact), 0) + ifnull(octet_length(NEW.text_of), 0) + octet_length(NEW.subject) + octet_length(NEW.text) + ifnull(octet_length(NEW.link_hash), 0) + ifnull(octet_length(NEW.link), 0) + octet_length(NEW.status) + ifnull(octet_length(NEW.reason), 0) + ifnull(octet_length(NEW.provider), 0) + ifnull(octet_length(NEW.provider_id), 0))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER messages_usage_update AFTER UPDATE ON messages WHEN (384 + octet_length(NEW.account_id) + octet_length(NEW.id) + octet_length(NEW.kind) + octet_length(NEW.channel) + octet_length(NEW.recipient) + ifnull(octet_length(NEW.user_id), 0) + ifnull(octet_length(NEW.contact), 0) + ifnull(octet_length(NEW.text_of), 0) + octet_length(NEW.subject) + octet_length(NEW.text) + ifnull(octet_length(NEW.link_hash), 0) + ifnull(octet_length(NEW.link), 0) + octet_length(NEW.status) + ifnull(octet_length(NEW.reason), 0) + ifnull(octet_length(NEW.provider), 0) + ifnull(octet_length(NEW.provider_id), 0))
    - (384 + octet_length(OLD.account_id) + octet_length(OLD.id) + octet_length(OLD.kind) + octet_length(OLD.channel) + octet_length(OLD.recipient) + ifnull(octet_length(OLD.user_id), 0) + ifnull(octet_length(OLD.contact), 0) + ifnull(octet_length(OLD.text_of), 0) + octet_length(OLD.subject) + octet_length(OLD.text) + ifnull(octet_length(OLD.link_hash), 0) + ifnull(octet_length(OLD.link), 0) + octet_length(OLD.status) + ifnull(octet_length(OLD.reason), 0) + ifnull(octet_length(OLD.provider), 0) + ifnull(octet_length(OLD.provider_id), 0)) <> 0 BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + (384 + octet_length(NEW.account_id) + octet_length(NEW.id) + octet_length(NEW.kind) + octet_length(NEW.channel) + octet_length(NEW.recipient) + ifnull(octet_length(NEW.user_id), 0) + ifnull(octet_length(NEW.contact), 0) + ifnull(octet_length(NEW.text_of), 0) + octet_length(NEW.subject) + octet_length(NEW.text) + ifnull(octet_length(NEW.link_hash), 0) + ifnull(octet_length(NEW.link), 0) + octet_length(NEW.status) + ifnull(octet_length(NEW.reason), 0) + ifnull(octet_length(NEW.provider), 0) + ifnull(octet_length(NEW.provider_id), 0))
    - (384 + octet_length(OLD.account_id) + octet_length(OLD.id) + octet_length(OLD.kind) + octet_length(OLD.channel) + octet_length(OLD.recipient) + ifnull(octet_length(OLD.user_id), 0) + ifnull(octet_length(OLD.contact), 0) + ifnull(octet_length(OLD.text_of), 0) + octet_length(OLD.subject) + octet_length(OLD.text) + ifnull(octet_length(OLD.link_hash), 0) + ifnull(octet_length(OLD.link), 0) + octet_length(OLD.status) + ifnull(octet_length(OLD.reason), 0) + ifnull(octet_length(OLD.provider), 0) + ifnull(octet_length(OLD.provider_id), 0)))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER messages_usage_delete AFTER DELETE ON messages BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + -(384 + octet_length(OLD.account_id) + octet_length(OLD.id) + octet_length(OLD.kind) + octet_length(OLD.channel) + octet_length(OLD.recipient) + ifnull(octet_length(OLD.user_id), 0) + ifnull(octet_length(OLD.contact), 0) + ifnull(octet_length(OLD.text_of), 0) + octet_length(OLD.subject) + octet_length(OLD.text) + ifnull(octet_length(OLD.link_hash), 0) + ifnull(octet_length(OLD.link), 0) + octet_length(OLD.status) + ifnull(octet_length(OLD.reason), 0) + ifnull(octet_length(OLD.provider), 0) + ifnull(octet_length(OLD.provider_id), 0)))
    WHERE account_id = OLD.account_id;
END;--> statement-breakpoint
CREATE TRIGGER tombstones_usage_insert AFTER INSERT ON tombstones BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + 96 + octet_length(NEW.account_id) + octet_length(NEW.id) + octet_length(NEW.groups) + ifnull(octet_length(NEW.device), 0))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER tombstones_usage_update AFTER UPDATE ON tombstones WHEN (96 + octet_length(NEW.account_id) + octet_length(NEW.id) + octet_length(NEW.groups) + ifnull(octet_length(NEW.device), 0))
    - (96 + octet_length(OLD.account_id) + octet_length(OLD.id) + octet_length(OLD.groups) + ifnull(octet_length(OLD.device), 0)) <> 0 BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + (96 + octet_length(NEW.account_id) + octet_length(NEW.id) + octet_length(NEW.groups) + ifnull(octet_length(NEW.device), 0))
    - (96 + octet_length(OLD.account_id) + octet_length(OLD.id) + octet_length(OLD.groups) + ifnull(octet_length(OLD.device), 0)))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER tombstones_usage_delete AFTER DELETE ON tombstones BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + -(96 + octet_length(OLD.account_id) + octet_length(OLD.id) + octet_length(OLD.groups) + ifnull(octet_length(OLD.device), 0)))
    WHERE account_id = OLD.account_id;
END;--> statement-breakpoint
CREATE TRIGGER accounts_status AFTER UPDATE OF disabled ON accounts
  WHEN NEW.disabled <> (NEW.status = 'disabled') BEGIN
  UPDATE accounts SET status = iif(NEW.disabled, 'disabled', 'active') WHERE id = NEW.id;
END;
