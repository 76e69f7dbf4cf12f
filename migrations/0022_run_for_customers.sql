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
CREATE TABLE `move_changes` (
	`number` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`account_id` text NOT NULL,
	`name` text NOT NULL,
	`key` text NOT NULL
) STRICT;
--> statement-breakpoint
CREATE INDEX `move_changes_key` ON `move_changes` (`account_id`,`name`,`key`);--> statement-breakpoint
CREATE TABLE `moved_accounts` (
	`account_id` text PRIMARY KEY NOT NULL,
	`number` integer NOT NULL,
	`cell` integer NOT NULL,
	`state` text NOT NULL,
	`until` integer DEFAULT 0 NOT NULL,
	`lease` text DEFAULT '' NOT NULL,
	`creation` integer NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE UNIQUE INDEX `moved_accounts_number` ON `moved_accounts` (`number`);--> statement-breakpoint
CREATE TABLE `moves` (
	`account_id` text PRIMARY KEY NOT NULL,
	`from_cell` integer NOT NULL,
	`to_cell` integer NOT NULL,
	`step` text NOT NULL,
	`position` text NOT NULL,
	`lease` text DEFAULT '' NOT NULL,
	`leased_until` integer DEFAULT 0 NOT NULL,
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
CREATE TRIGGER account_usage_move_insert BEFORE INSERT ON account_usage
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = NEW.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = NEW.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'account_usage', json_array(NEW.account_id) FROM moved_accounts
    WHERE account_id = NEW.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER account_usage_move_update BEFORE UPDATE ON account_usage
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'account_usage', json_array(OLD.account_id) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER account_usage_move_delete BEFORE DELETE ON account_usage
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'account_usage', json_array(OLD.account_id) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER alert_log_move_insert BEFORE INSERT ON alert_log
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = NEW.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = NEW.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'alert_log', json_array(NEW.account_id, NEW.alert_id, NEW.seq) FROM moved_accounts
    WHERE account_id = NEW.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER alert_log_move_update BEFORE UPDATE ON alert_log
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'alert_log', json_array(OLD.account_id, OLD.alert_id, OLD.seq) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER alert_log_move_delete BEFORE DELETE ON alert_log
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'alert_log', json_array(OLD.account_id, OLD.alert_id, OLD.seq) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER alerts_move_insert BEFORE INSERT ON alerts
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = NEW.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = NEW.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'alerts', json_array(NEW.id) FROM moved_accounts
    WHERE account_id = NEW.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER alerts_move_update BEFORE UPDATE ON alerts
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'alerts', json_array(OLD.id) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER alerts_move_delete BEFORE DELETE ON alerts
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'alerts', json_array(OLD.id) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER archived_months_move_insert BEFORE INSERT ON archived_months
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = NEW.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = NEW.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'archived_months', json_array(NEW.account_id, NEW.month) FROM moved_accounts
    WHERE account_id = NEW.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER archived_months_move_update BEFORE UPDATE ON archived_months
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'archived_months', json_array(OLD.account_id, OLD.month) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER archived_months_move_delete BEFORE DELETE ON archived_months
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'archived_months', json_array(OLD.account_id, OLD.month) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER audit_move_insert BEFORE INSERT ON audit
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = NEW.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = NEW.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'audit', json_array(NEW.account_id, NEW.id) FROM moved_accounts
    WHERE account_id = NEW.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER audit_move_update BEFORE UPDATE ON audit
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'audit', json_array(OLD.account_id, OLD.id) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER audit_move_delete BEFORE DELETE ON audit
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'audit', json_array(OLD.account_id, OLD.id) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER backlogs_move_insert BEFORE INSERT ON backlogs
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = NEW.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = NEW.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'backlogs', json_array(NEW.account_id, NEW.kind, NEW.id) FROM moved_accounts
    WHERE account_id = NEW.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER backlogs_move_update BEFORE UPDATE ON backlogs
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'backlogs', json_array(OLD.account_id, OLD.kind, OLD.id) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER backlogs_move_delete BEFORE DELETE ON backlogs
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'backlogs', json_array(OLD.account_id, OLD.kind, OLD.id) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER commands_move_insert BEFORE INSERT ON commands
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = NEW.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = NEW.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'commands', json_array(NEW.id) FROM moved_accounts
    WHERE account_id = NEW.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER commands_move_update BEFORE UPDATE ON commands
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'commands', json_array(OLD.id) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER commands_move_delete BEFORE DELETE ON commands
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'commands', json_array(OLD.id) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER devices_move_insert BEFORE INSERT ON devices
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = NEW.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = NEW.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'devices', json_array(NEW.key) FROM moved_accounts
    WHERE account_id = NEW.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER devices_move_update BEFORE UPDATE ON devices
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'devices', json_array(OLD.key) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER devices_move_delete BEFORE DELETE ON devices
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'devices', json_array(OLD.key) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER event_heads_move_insert BEFORE INSERT ON event_heads
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = NEW.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = NEW.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'event_heads', json_array(NEW.account_id) FROM moved_accounts
    WHERE account_id = NEW.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER event_heads_move_update BEFORE UPDATE ON event_heads
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'event_heads', json_array(OLD.account_id) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER event_heads_move_delete BEFORE DELETE ON event_heads
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'event_heads', json_array(OLD.account_id) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER events_move_insert BEFORE INSERT ON events
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = NEW.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = NEW.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'events', json_array(NEW.account_id, NEW.sequence) FROM moved_accounts
    WHERE account_id = NEW.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER events_move_update BEFORE UPDATE ON events
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'events', json_array(OLD.account_id, OLD.sequence) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER events_move_delete BEFORE DELETE ON events
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'events', json_array(OLD.account_id, OLD.sequence) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER group_devices_move_insert BEFORE INSERT ON group_devices
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = NEW.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = NEW.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'group_devices', json_array(NEW.group_id, NEW.device_key) FROM moved_accounts
    WHERE account_id = NEW.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER group_devices_move_update BEFORE UPDATE ON group_devices
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'group_devices', json_array(OLD.group_id, OLD.device_key) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER group_devices_move_delete BEFORE DELETE ON group_devices
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'group_devices', json_array(OLD.group_id, OLD.device_key) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER groups_move_insert BEFORE INSERT ON groups
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = NEW.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = NEW.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'groups', json_array(NEW.id) FROM moved_accounts
    WHERE account_id = NEW.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER groups_move_update BEFORE UPDATE ON groups
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'groups', json_array(OLD.id) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER groups_move_delete BEFORE DELETE ON groups
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'groups', json_array(OLD.id) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER idempotency_move_insert BEFORE INSERT ON idempotency
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = NEW.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = NEW.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'idempotency', json_array(NEW.account_id, NEW.principal, NEW.key) FROM moved_accounts
    WHERE account_id = NEW.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER idempotency_move_update BEFORE UPDATE ON idempotency
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'idempotency', json_array(OLD.account_id, OLD.principal, OLD.key) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER idempotency_move_delete BEFORE DELETE ON idempotency
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'idempotency', json_array(OLD.account_id, OLD.principal, OLD.key) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER key_networks_move_insert BEFORE INSERT ON key_networks
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = NEW.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = NEW.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'key_networks', json_array(NEW.key_id, NEW.network) FROM moved_accounts
    WHERE account_id = NEW.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER key_networks_move_update BEFORE UPDATE ON key_networks
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'key_networks', json_array(OLD.key_id, OLD.network) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER key_networks_move_delete BEFORE DELETE ON key_networks
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'key_networks', json_array(OLD.key_id, OLD.network) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER keys_move_insert BEFORE INSERT ON keys
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = NEW.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = NEW.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'keys', json_array(NEW.id) FROM moved_accounts
    WHERE account_id = NEW.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER keys_move_update BEFORE UPDATE ON keys
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'keys', json_array(OLD.id) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER keys_move_delete BEFORE DELETE ON keys
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'keys', json_array(OLD.id) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER messages_move_insert BEFORE INSERT ON messages
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = NEW.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = NEW.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'messages', json_array(NEW.account_id, NEW.id) FROM moved_accounts
    WHERE account_id = NEW.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER messages_move_update BEFORE UPDATE ON messages
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'messages', json_array(OLD.account_id, OLD.id) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER messages_move_delete BEFORE DELETE ON messages
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'messages', json_array(OLD.account_id, OLD.id) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER pending_raises_move_insert BEFORE INSERT ON pending_raises
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = NEW.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = NEW.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'pending_raises', json_array(NEW.account_id, NEW.id) FROM moved_accounts
    WHERE account_id = NEW.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER pending_raises_move_update BEFORE UPDATE ON pending_raises
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'pending_raises', json_array(OLD.account_id, OLD.id) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER pending_raises_move_delete BEFORE DELETE ON pending_raises
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'pending_raises', json_array(OLD.account_id, OLD.id) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER push_subscriptions_move_insert BEFORE INSERT ON push_subscriptions
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = NEW.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = NEW.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'push_subscriptions', json_array(NEW.id) FROM moved_accounts
    WHERE account_id = NEW.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER push_subscriptions_move_update BEFORE UPDATE ON push_subscriptions
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'push_subscriptions', json_array(OLD.id) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER push_subscriptions_move_delete BEFORE DELETE ON push_subscriptions
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'push_subscriptions', json_array(OLD.id) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER quarantine_move_insert BEFORE INSERT ON quarantine
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = NEW.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = NEW.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'quarantine', json_array(NEW.id) FROM moved_accounts
    WHERE account_id = NEW.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER quarantine_move_update BEFORE UPDATE ON quarantine
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'quarantine', json_array(OLD.id) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER quarantine_move_delete BEFORE DELETE ON quarantine
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'quarantine', json_array(OLD.id) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER rules_move_insert BEFORE INSERT ON rules
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = NEW.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = NEW.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'rules', json_array(NEW.id) FROM moved_accounts
    WHERE account_id = NEW.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER rules_move_update BEFORE UPDATE ON rules
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'rules', json_array(OLD.id) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER rules_move_delete BEFORE DELETE ON rules
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'rules', json_array(OLD.id) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER sessions_move_insert BEFORE INSERT ON sessions
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = NEW.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = NEW.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'sessions', json_array(NEW.id) FROM moved_accounts
    WHERE account_id = NEW.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER sessions_move_update BEFORE UPDATE ON sessions
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'sessions', json_array(OLD.id) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER sessions_move_delete BEFORE DELETE ON sessions
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'sessions', json_array(OLD.id) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER silent_marks_move_insert BEFORE INSERT ON silent_marks
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = NEW.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = NEW.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'silent_marks', json_array(NEW.rule_id, NEW.device_key) FROM moved_accounts
    WHERE account_id = NEW.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER silent_marks_move_update BEFORE UPDATE ON silent_marks
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'silent_marks', json_array(OLD.rule_id, OLD.device_key) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER silent_marks_move_delete BEFORE DELETE ON silent_marks
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'silent_marks', json_array(OLD.rule_id, OLD.device_key) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER source_payloads_move_insert BEFORE INSERT ON source_payloads
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = NEW.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = NEW.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'source_payloads', json_array(NEW.id) FROM moved_accounts
    WHERE account_id = NEW.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER source_payloads_move_update BEFORE UPDATE ON source_payloads
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'source_payloads', json_array(OLD.id) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER source_payloads_move_delete BEFORE DELETE ON source_payloads
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'source_payloads', json_array(OLD.id) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER sources_move_insert BEFORE INSERT ON sources
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = NEW.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = NEW.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'sources', json_array(NEW.id) FROM moved_accounts
    WHERE account_id = NEW.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER sources_move_update BEFORE UPDATE ON sources
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'sources', json_array(OLD.id) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER sources_move_delete BEFORE DELETE ON sources
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'sources', json_array(OLD.id) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER stays_move_insert BEFORE INSERT ON stays
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = NEW.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = NEW.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'stays', json_array(NEW.device_key) FROM moved_accounts
    WHERE account_id = NEW.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER stays_move_update BEFORE UPDATE ON stays
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'stays', json_array(OLD.device_key) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER stays_move_delete BEFORE DELETE ON stays
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'stays', json_array(OLD.device_key) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER tombstones_move_insert BEFORE INSERT ON tombstones
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = NEW.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = NEW.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'tombstones', json_array(NEW.account_id, NEW.id) FROM moved_accounts
    WHERE account_id = NEW.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER tombstones_move_update BEFORE UPDATE ON tombstones
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'tombstones', json_array(OLD.account_id, OLD.id) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER tombstones_move_delete BEFORE DELETE ON tombstones
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'tombstones', json_array(OLD.account_id, OLD.id) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER unclaimed_move_insert BEFORE INSERT ON unclaimed
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = NEW.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = NEW.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'unclaimed', json_array(NEW.source_id, NEW.identifier_key) FROM moved_accounts
    WHERE account_id = NEW.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER unclaimed_move_update BEFORE UPDATE ON unclaimed
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'unclaimed', json_array(OLD.source_id, OLD.identifier_key) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER unclaimed_move_delete BEFORE DELETE ON unclaimed
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'unclaimed', json_array(OLD.source_id, OLD.identifier_key) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER unclaimed_reports_move_insert BEFORE INSERT ON unclaimed_reports
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = NEW.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = NEW.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'unclaimed_reports', json_array(NEW.source_id, NEW.identifier_key, NEW.key) FROM moved_accounts
    WHERE account_id = NEW.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER unclaimed_reports_move_update BEFORE UPDATE ON unclaimed_reports
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'unclaimed_reports', json_array(OLD.source_id, OLD.identifier_key, OLD.key) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER unclaimed_reports_move_delete BEFORE DELETE ON unclaimed_reports
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'unclaimed_reports', json_array(OLD.source_id, OLD.identifier_key, OLD.key) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER usage_days_move_insert BEFORE INSERT ON usage_days
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = NEW.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = NEW.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'usage_days', json_array(NEW.account_id, NEW.day) FROM moved_accounts
    WHERE account_id = NEW.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER usage_days_move_update BEFORE UPDATE ON usage_days
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'usage_days', json_array(OLD.account_id, OLD.day) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER usage_days_move_delete BEFORE DELETE ON usage_days
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'usage_days', json_array(OLD.account_id, OLD.day) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER usage_months_move_insert BEFORE INSERT ON usage_months
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = NEW.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = NEW.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'usage_months', json_array(NEW.account_id, NEW.month) FROM moved_accounts
    WHERE account_id = NEW.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER usage_months_move_update BEFORE UPDATE ON usage_months
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'usage_months', json_array(OLD.account_id, OLD.month) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER usage_months_move_delete BEFORE DELETE ON usage_months
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'usage_months', json_array(OLD.account_id, OLD.month) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER users_move_insert BEFORE INSERT ON users
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = NEW.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = NEW.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'users', json_array(NEW.id) FROM moved_accounts
    WHERE account_id = NEW.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER users_move_update BEFORE UPDATE ON users
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'users', json_array(OLD.id) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER users_move_delete BEFORE DELETE ON users
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'users', json_array(OLD.id) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER watches_move_insert BEFORE INSERT ON watches
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = NEW.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = NEW.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'watches', json_array(NEW.id) FROM moved_accounts
    WHERE account_id = NEW.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER watches_move_update BEFORE UPDATE ON watches
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'watches', json_array(OLD.id) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER watches_move_delete BEFORE DELETE ON watches
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'watches', json_array(OLD.id) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER webhooks_move_insert BEFORE INSERT ON webhooks
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = NEW.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = NEW.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'webhooks', json_array(NEW.id) FROM moved_accounts
    WHERE account_id = NEW.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER webhooks_move_update BEFORE UPDATE ON webhooks
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'webhooks', json_array(OLD.id) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER webhooks_move_delete BEFORE DELETE ON webhooks
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'webhooks', json_array(OLD.id) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER zones_move_insert BEFORE INSERT ON zones
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = NEW.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = NEW.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'zones', json_array(NEW.id) FROM moved_accounts
    WHERE account_id = NEW.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER zones_move_update BEFORE UPDATE ON zones
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'zones', json_array(OLD.id) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER zones_move_delete BEFORE DELETE ON zones
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'zones', json_array(OLD.id) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER erasures_move_insert BEFORE INSERT ON erasures
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = NEW.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = NEW.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'erasures', json_array(NEW.account_id, NEW.id) FROM moved_accounts
    WHERE account_id = NEW.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER erasures_move_update BEFORE UPDATE ON erasures
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'erasures', json_array(OLD.account_id, OLD.id) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER erasures_move_delete BEFORE DELETE ON erasures
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.account_id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.account_id AND (state IN ('moved', 'landing')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'erasures', json_array(OLD.account_id, OLD.id) FROM moved_accounts
    WHERE account_id = OLD.account_id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER locations_move_insert BEFORE INSERT ON locations
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE number = NEW.device_key / 16777216) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE number = NEW.device_key / 16777216 AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'locations', json_array(NEW.device_key, NEW.time) FROM moved_accounts
    WHERE number = NEW.device_key / 16777216 AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER locations_move_update BEFORE UPDATE ON locations
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE number = OLD.device_key / 16777216) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE number = OLD.device_key / 16777216 AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'locations', json_array(OLD.device_key, OLD.time) FROM moved_accounts
    WHERE number = OLD.device_key / 16777216 AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER locations_move_delete BEFORE DELETE ON locations
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE number = OLD.device_key / 16777216) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE number = OLD.device_key / 16777216 AND (state IN ('moved', 'landing')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'locations', json_array(OLD.device_key, OLD.time) FROM moved_accounts
    WHERE number = OLD.device_key / 16777216 AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER accounts_move_insert BEFORE INSERT ON accounts
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = NEW.id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = NEW.id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'accounts', json_array(NEW.id) FROM moved_accounts
    WHERE account_id = NEW.id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER accounts_move_update BEFORE UPDATE ON accounts
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.id AND (state IN ('moved', 'landing', 'left')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'accounts', json_array(OLD.id) FROM moved_accounts
    WHERE account_id = OLD.id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER accounts_move_delete BEFORE DELETE ON accounts
WHEN EXISTS (SELECT 1 FROM moved_accounts WHERE account_id = OLD.id) BEGIN
  SELECT RAISE(ABORT, 'account-moving') FROM moved_accounts WHERE account_id = OLD.id AND (state IN ('moved', 'landing')
    OR (state = 'frozen' AND until > unixepoch('subsec') * 1000));
  INSERT INTO move_changes (account_id, name, key)
    SELECT account_id, 'accounts', json_array(OLD.id) FROM moved_accounts
    WHERE account_id = OLD.id AND state IN ('copying', 'frozen', 'arrived');
END;--> statement-breakpoint
CREATE TRIGGER accounts_status AFTER UPDATE OF disabled ON accounts
  WHEN NEW.disabled <> (NEW.status = 'disabled') BEGIN
  UPDATE accounts SET status = iif(NEW.disabled, 'disabled', 'active') WHERE id = NEW.id;
END;
