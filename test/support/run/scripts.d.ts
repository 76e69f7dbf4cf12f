/** The scripts are plain JavaScript; a test that imports one takes it as it comes. */
declare module '*.mjs'
