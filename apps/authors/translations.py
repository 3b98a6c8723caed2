"""What the server itself says to authors, in their languages."""

#: The languages that the widget and our texts speak, with their own names.
LANGUAGES = {
    "en": "English",
    "de": "Deutsch",
    "es": "Español",
    "fr": "Français",
    "ja": "日本語",
    "ar": "العربية",
}
RIGHT_TO_LEFT = frozenset({"ar"})

#: What authors agree to where a site does not bring words of its own.
CONSENT_TEXTS = {
    "en": "May we read what you write here, without your personal details, and now and then ask "
    "you a short question about it? It is voluntary, and you can stop or delete your data at any "
    "time.",
    "de": "Dürfen wir lesen, was Sie hier schreiben, ohne Ihre persönlichen Angaben, und Ihnen hin "
    "und wieder eine kurze Frage dazu stellen? Es ist freiwillig; Sie können jederzeit aufhören "
    "oder Ihre Daten löschen.",
    "es": "¿Podemos leer lo que escribe aquí, sin sus datos personales, y hacerle de vez en cuando "
    "una pregunta breve al respecto? Es voluntario; puede parar o borrar sus datos cuando quiera.",
    "fr": "Pouvons-nous lire ce que vous écrivez ici, sans vos données personnelles, et vous poser "
    "de temps en temps une courte question à ce sujet ? C'est facultatif ; vous pouvez arrêter ou "
    "effacer vos données à tout moment.",
    "ja": "ここに書かれた内容を、個人情報を除いて読ませていただき、ときどき短い質問をしてもよろしい"
    "ですか。回答は任意で、いつでもやめたり、データを削除したりできます。",
    "ar": "هل تسمح لنا بقراءة ما تكتبه هنا دون بياناتك الشخصية، وبأن نطرح عليك أحيانًا سؤالًا قصيرًا"
    " عنه؟ المشاركة اختيارية، ويمكنك التوقف أو حذف بياناتك في أي وقت.",
}
#: Goes on after that text, also after a site's own words, where a site's authors may be offered
#: something.
RECOMMENDS = {
    "en": "You may also see recommendations here. What is recommended rests on what you write.",
    "de": "Es kann sein, dass wir Ihnen hier auch etwas empfehlen. Was wir empfehlen, richtet sich "
    "nach dem, was Sie schreiben.",
    "es": "También puede ver aquí recomendaciones. Lo que se recomienda se basa en lo que escribe.",
    "fr": "Des recommandations peuvent aussi s'afficher ici. Elles reposent sur ce que vous "
    "écrivez.",
    "ja": "ここにおすすめが表示されることもあります。おすすめは、書かれた内容をもとに選ばれます。",
    "ar": "قد تظهر لك هنا توصيات أيضًا. وتستند هذه التوصيات إلى ما تكتبه.",
}
#: One line below each question.
WHY = {
    "en": "You know best what you meant. Your answer is used to measure how well others read it.",
    "de": "Sie wissen am besten, was Sie meinten. Ihre Antwort zeigt, wie gut andere es verstehen.",
    "es": "Usted sabe mejor lo que quiso decir. Su respuesta mide lo bien que otros lo entienden.",
    "fr": "Vous savez mieux que personne ce que vous vouliez dire. Votre réponse mesure si les "
    "autres l'ont compris.",
    "ja": "書いた意図を一番よく知っているのはあなたです。"
    "回答は、他の人の読み取りの正確さを測るために使われます。",
    "ar": "أنت أدرى بما قصدته. تُستخدم إجابتك لقياس مدى فهم الآخرين لما كتبت.",
}

#: In a chat, in place of a reply, when a limit of the day is reached.
LIMIT_REACHED = {
    "en": "That was all for today. Please come back tomorrow.",
    "de": "Das war alles für heute. Bitte kommen Sie morgen wieder.",
    "es": "Eso es todo por hoy. Vuelva mañana, por favor.",
    "fr": "C'est tout pour aujourd'hui. Revenez demain, s'il vous plaît.",
    "ja": "本日の回答はここまでです。明日またお越しください。",
    "ar": "هذا كل شيء لهذا اليوم. يُرجى العودة غدًا.",
}

#: The built-in model's reply to somebody in danger: it must not go on selling.
CRISIS_REPLY = {
    "en": "I am only a program and cannot help you with this, but people can. Please talk to "
    "somebody you trust, or call the emergency number of your country.",
    "de": "Ich bin nur ein Programm und kann Ihnen dabei nicht helfen, aber Menschen können es. "
    "Bitte sprechen Sie mit jemandem, dem Sie vertrauen, oder rufen Sie den Notruf an.",
    "es": "Solo soy un programa y no puedo ayudarle en esto, pero hay personas que sí. Hable con "
    "alguien de confianza o llame al número de emergencias de su país.",
    "fr": "Je ne suis qu'un programme et ne peux pas vous aider, mais des personnes le peuvent. "
    "Parlez à quelqu'un de confiance ou appelez le numéro d'urgence de votre pays.",
    "ja": "これはプログラムのためお力になれませんが、助けてくれる人がいます。信頼できる人に話すか、"
    "お住まいの国の緊急番号に電話してください。",
    "ar": "أنا مجرد برنامج ولا أستطيع مساعدتك في هذا، لكن هناك من يستطيع. تحدث من فضلك إلى شخص"
    " تثق به أو اتصل برقم الطوارئ في بلدك.",
}

#: Below the text to agree to, where answers earn something.
REWARD_OFFER = {
    "en": "Signed-in people get {amount} for an answer.",
    "de": "Wer angemeldet ist, erhält {amount} für eine Antwort.",
    "es": "Las personas identificadas reciben {amount} por respuesta.",
    "fr": "Les personnes connectées reçoivent {amount} par réponse.",
    "ja": "ログインしている方には、回答ごとに{amount}が支払われます。",
    "ar": "يحصل المستخدمون المسجَّلون على {amount} عن كل إجابة.",
}


def translated(words: dict[str, str], language: str) -> str:
    return words.get(language) or words["en"]
