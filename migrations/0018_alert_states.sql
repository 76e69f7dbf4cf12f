DROP TRIGGER alerts_usage_insert;--> statement-breakpoint
DROP TRIGGER alerts_usage_update;--> statement-breakpoint
DROP TRIGGER alerts_usage_delete;--> statement-breakpoint
CREATE TABLE `alert_log` (
	`account_id` text NOT NULL,
	`alert_id` text NOT NULL,
	`seq` integer NOT NULL,
	`at` integer NOT NULL,
	`action` text NOT NULL,
	`by` text,
	`text` text,
	PRIMARY KEY(`account_id`, `alert_id`, `seq`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
ALTER TABLE `alerts` ADD `resolved_at` integer;--> statement-breakpoint
ALTER TABLE `alerts` ADD `resolved_by` text;--> statement-breakpoint
ALTER TABLE `alerts` ADD `reopened` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `alerts` ADD `notes` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `alerts` ADD `raised_by` text;--> statement-breakpoint
ALTER TABLE `alerts` ADD `test` integer DEFAULT false NOT NULL;--> statement-breakpoint
INSERT INTO account_usage (account_id, day, locations, storage_bytes)
SELECT accounts.id, accounts.day, 0, sum(32 + octet_length(alert_log.account_id) + octet_length(alert_log.alert_id) + octet_length(alert_log.action) + ifnull(octet_length(alert_log.by), 0) + ifnull(octet_length(alert_log.text), 0))
FROM alert_log JOIN accounts ON accounts.id = alert_log.account_id WHERE true GROUP BY accounts.id
ON CONFLICT (account_id) DO UPDATE SET storage_bytes = storage_bytes + excluded.storage_bytes;--> statement-breakpoint
CREATE TRIGGER alert_log_usage_insert AFTER INSERT ON alert_log BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + 32 + octet_length(NEW.account_id) + octet_length(NEW.alert_id) + octet_length(NEW.action) + ifnull(octet_length(NEW.by), 0) + ifnull(octet_length(NEW.text), 0))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER alert_log_usage_update AFTER UPDATE ON alert_log WHEN (32 + octet_length(NEW.account_id) + octet_length(NEW.alert_id) + octet_length(NEW.action) + ifnull(octet_length(NEW.by), 0) + ifnull(octet_length(NEW.text), 0))
    - (32 + octet_length(OLD.account_id) + octet_length(OLD.alert_id) + octet_length(OLD.action) + ifnull(octet_length(OLD.by), 0) + ifnull(octet_length(OLD.text), 0)) <> 0 BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + (32 + octet_length(NEW.account_id) + octet_length(NEW.alert_id) + octet_length(NEW.action) + ifnull(octet_length(NEW.by), 0) + ifnull(octet_length(NEW.text), 0))
    - (32 + octet_length(OLD.account_id) + octet_length(OLD.alert_id) + octet_length(OLD.action) + ifnull(octet_length(OLD.by), 0) + ifnull(octet_length(OLD.text), 0)))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER alert_log_usage_delete AFTER DELETE ON alert_log BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + -(32 + octet_length(OLD.account_id) + octet_length(OLD.alert_id) + octet_length(OLD.action) + ifnull(octet_length(OLD.by), 0) + ifnull(octet_length(OLD.text), 0)))
    WHERE account_id = OLD.account_id;
END;--> statement-breakpoint
CREATE TRIGGER alerts_usage_insert AFTER INSERT ON alerts BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + 336 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.name) + octet_length(NEW.text) + octet_length(NEW.position_source) + ifnull(octet_length(NEW.acknowledged_by), 0) + ifnull(octet_length(NEW.resolved_by), 0) + ifnull(octet_length(NEW.cancelled_by), 0) + ifnull(octet_length(NEW.raised_by), 0) + ifnull(octet_length(NEW.updates), 0) + ifnull(octet_length(NEW.rule_id), 0) + ifnull(octet_length(NEW.zone_id), 0))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER alerts_usage_update AFTER UPDATE ON alerts WHEN (336 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.name) + octet_length(NEW.text) + octet_length(NEW.position_source) + ifnull(octet_length(NEW.acknowledged_by), 0) + ifnull(octet_length(NEW.resolved_by), 0) + ifnull(octet_length(NEW.cancelled_by), 0) + ifnull(octet_length(NEW.raised_by), 0) + ifnull(octet_length(NEW.updates), 0) + ifnull(octet_length(NEW.rule_id), 0) + ifnull(octet_length(NEW.zone_id), 0))
    - (336 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.name) + octet_length(OLD.text) + octet_length(OLD.position_source) + ifnull(octet_length(OLD.acknowledged_by), 0) + ifnull(octet_length(OLD.resolved_by), 0) + ifnull(octet_length(OLD.cancelled_by), 0) + ifnull(octet_length(OLD.raised_by), 0) + ifnull(octet_length(OLD.updates), 0) + ifnull(octet_length(OLD.rule_id), 0) + ifnull(octet_length(OLD.zone_id), 0)) <> 0 BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + (336 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.name) + octet_length(NEW.text) + octet_length(NEW.position_source) + ifnull(octet_length(NEW.acknowledged_by), 0) + ifnull(octet_length(NEW.resolved_by), 0) + ifnull(octet_length(NEW.cancelled_by), 0) + ifnull(octet_length(NEW.raised_by), 0) + ifnull(octet_length(NEW.updates), 0) + ifnull(octet_length(NEW.rule_id), 0) + ifnull(octet_length(NEW.zone_id), 0))
    - (336 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.name) + octet_length(OLD.text) + octet_length(OLD.position_source) + ifnull(octet_length(OLD.acknowledged_by), 0) + ifnull(octet_length(OLD.resolved_by), 0) + ifnull(octet_length(OLD.cancelled_by), 0) + ifnull(octet_length(OLD.raised_by), 0) + ifnull(octet_length(OLD.updates), 0) + ifnull(octet_length(OLD.rule_id), 0) + ifnull(octet_length(OLD.zone_id), 0)))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER alerts_usage_delete AFTER DELETE ON alerts BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + -(336 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.name) + octet_length(OLD.text) + octet_length(OLD.position_source) + ifnull(octet_length(OLD.acknowledged_by), 0) + ifnull(octet_length(OLD.resolved_by), 0) + ifnull(octet_length(OLD.cancelled_by), 0) + ifnull(octet_length(OLD.raised_by), 0) + ifnull(octet_length(OLD.updates), 0) + ifnull(octet_length(OLD.rule_id), 0) + ifnull(octet_length(OLD.zone_id), 0)))
    WHERE account_id = OLD.account_id;
END;
