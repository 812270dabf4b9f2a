export { default } from "htm"
