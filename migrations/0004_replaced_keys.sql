ALTER TABLE `keys` ADD `chosen_end` integer;
